//! Who a server says it is, and whom a client believes: the certificates of the secure stacks. Owns the certificate that is
//! made at start, the TLS 1.3 configuration of both ends and the check of a server's certificate.
//!
//! rustls gets its provider of cryptography (ring) with every configuration; the process-wide default is neither set nor read,
//! since it belongs to whoever uses this library. AES-128-GCM is offered first: it is the suite that every TLS 1.3 peer must
//! have, QUIC's first packets use it anyway, and it is the cheapest with AES in hardware.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::{
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme, version::TLS13};

use super::config::Identity;
use super::error::Reason;
use super::{ServerConfig, TransportError};

/// Whom a certificate that is made at start stands for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The cipher that two ends of this program agree on, as results record it.
pub(super) const CIPHER: (&str, &str) = ("cipher", "TLS 1.3, AES-128-GCM (ring)");

/// An identity made now: a self-signed certificate of an ECDSA key on P-256, for this machine's own names.
///
/// # Errors
/// Where no key can be made.
pub fn self_signed() -> Result<Identity, TransportError> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(NAMES.map(str::to_owned)).map_err(refused)?;
    Ok(Identity { certificate_pem: cert.pem(), key_pem: signing_key.serialize_pem() })
}

/// The identity that the user gave, or one made now.
///
/// # Errors
/// Where no key can be made.
pub(super) fn identity(config: &ServerConfig) -> Result<Identity, TransportError> {
    config.identity.clone().map_or_else(self_signed, Ok)
}

/// The server's configuration: its certificate is shown to everybody, and nobody is asked for one.
///
/// # Errors
/// Where the certificate or the key is none, or the two do not belong together.
pub(super) fn server(identity: &Identity, alpn: Option<&[u8]>) -> Result<rustls::ServerConfig, TransportError> {
    let chain = certificates(&identity.certificate_pem)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).map_err(refused)?;
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(refused)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(refused)?;
    config.alpn_protocols = alpn.map(<[u8]>::to_vec).into_iter().collect();
    Ok(config)
}

/// The client's configuration: the only root is `authority_pem`.
///
/// # Errors
/// Where there is none, or it holds no certificate.
pub(super) fn client(authority_pem: Option<&str>, alpn: Option<&[u8]>) -> Result<rustls::ClientConfig, TransportError> {
    let authority_pem = authority_pem.ok_or_else(|| refused("the client was given none to know the server by"))?;
    let provider = provider();
    let verifier = Arc::new(Verifier::new(certificates(authority_pem)?, &provider)?);
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(refused)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = alpn.map(<[u8]>::to_vec).into_iter().collect();
    Ok(config)
}

/// The name by which a client asks for the server: its IP address, which the certificate must hold. No server name is sent
/// along then, since SNI is for DNS names only (RFC 6066, section 3).
pub(super) fn server_name(ip: IpAddr) -> ServerName<'static> {
    ServerName::IpAddress(ip.into())
}

fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256];
    Arc::new(CryptoProvider { cipher_suites, ..ring::default_provider() })
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().map_err(refused)?;
    if found.is_empty() { Err(refused("the PEM holds no certificate")) } else { Ok(found) }
}

fn refused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TransportError {
    TransportError::Certificate(Reason::new(error))
}

/// Believes a server whose certificate is signed by the authority for the address that was dialled, as every client does, or
/// whose certificate *is* the authority.
///
/// The second is what a self-signed certificate comes to. The general rules refuse it where it says of itself that it may sign
/// others, as those of `openssl req -x509` do, and where it names a host and the client knows an address. Neither matters for
/// a certificate that is known byte by byte: whoever shows it must still prove to have its key. Its dates hold all the same.
#[derive(Debug)]
struct Verifier {
    general: Arc<WebPkiServerVerifier>,
    authorities: Vec<CertificateDer<'static>>,
}

impl Verifier {
    fn new(authorities: Vec<CertificateDer<'static>>, provider: &Arc<CryptoProvider>) -> Result<Self, TransportError> {
        let mut roots = RootCertStore::empty();
        for certificate in &authorities {
            roots.add(certificate.clone()).map_err(refused)?;
        }
        let general = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(refused)?;
        Ok(Self { general, authorities })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let outcome = self.general.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match outcome {
            Err(rustls::Error::InvalidCertificate(reason))
                if !is_about_dates(&reason) && self.authorities.contains(end_entity) =>
            {
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.general.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.general.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.general.supported_verify_schemes()
    }
}

const fn is_about_dates(reason: &CertificateError) -> bool {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(reason, Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. })
}

#[cfg(test)]
mod tests {
    use super::super::Payload;
    use super::*;

    fn made() -> Identity {
        identity(&ServerConfig::new(Payload::Opaque)).unwrap()
    }

    fn self_signed(change: impl FnOnce(&mut rcgen::CertificateParams)) -> CertificateDer<'static> {
        let mut parameters = rcgen::CertificateParams::new(["validator.example".to_owned()]).unwrap();
        change(&mut parameters);
        parameters.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn verdict(authority: &CertificateDer<'static>, shown: &CertificateDer<'static>, ip: &str) -> bool {
        let verifier = Verifier::new(vec![authority.clone()], &provider()).unwrap();
        let name = server_name(ip.parse().unwrap());
        verifier.verify_server_cert(shown, &[], &name, &[], UnixTime::now()).is_ok()
    }

    #[test]
    fn the_certificate_made_at_start_stands_for_the_loopback_interface() {
        let shown = certificates(&made().certificate_pem).unwrap().remove(0);
        let general = Verifier::new(vec![shown.clone()], &provider()).unwrap().general;
        for (name, is_good) in [("localhost", true), ("127.0.0.1", true), ("::1", true), ("192.0.2.1", false)] {
            let name = ServerName::try_from(name).unwrap();
            assert_eq!(
                general.verify_server_cert(&shown, &[], &name, &[], UnixTime::now()).is_ok(),
                is_good,
                "{name:?}"
            );
        }
    }

    #[test]
    fn a_certificate_that_is_the_authority_is_believed_as_long_as_it_is_valid() {
        let other = self_signed(|_| ());
        let authority = self_signed(|parameters| {
            parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        });
        assert!(verdict(&authority, &authority, "127.0.0.1"));
        assert!(verdict(&other, &other, "127.0.0.1"));
        assert!(!verdict(&authority, &other, "127.0.0.1"));
        let expired = self_signed(|parameters| parameters.not_after = rcgen::date_time_ymd(2000, 1, 1));
        assert!(!verdict(&expired, &expired, "127.0.0.1"));
    }

    #[test]
    fn what_is_no_certificate_or_key_is_refused() {
        let good = made();
        assert!(server(&good, None).is_ok());
        for (certificate_pem, key_pem) in
            [("", good.key_pem.as_str()), (good.certificate_pem.as_str(), ""), (&good.certificate_pem, &made().key_pem)]
        {
            let identity = Identity { certificate_pem: certificate_pem.to_owned(), key_pem: key_pem.to_owned() };
            assert!(matches!(server(&identity, None), Err(TransportError::Certificate(_))));
        }
        assert!(matches!(client(None, None), Err(TransportError::Certificate(_))));
        assert!(matches!(client(Some("nothing"), None), Err(TransportError::Certificate(_))));
    }
}
